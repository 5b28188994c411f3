<?php
// Every request goes through WordPress, as a web server that rewrites addresses would have it.
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
require __DIR__ . '/settings.php';
require ABSPATH . 'wp-settings.php';
if (getenv('WORDPRESS_IS_PRIVATE')) {
    // As the handbook of the REST API recommends it to sites that want everybody to sign in.
    add_filter('rest_authentication_errors', function ($result) {
        if ($result === true || is_wp_error($result)) {
            return $result;
        }
        return is_user_logged_in() ? $result
            : new WP_Error('rest_not_logged_in', 'You are not currently logged in.', ['status' => 401]);
    }, 95);
}
wp();
require ABSPATH . WPINC . '/template-loader.php';
